/* Starts Safelight: runtime/bin/python3.13 beside this program, isolated from the user's settings.

   The folder is found by /proc/self/exe, so that links to this program and moved folders work. The
   environment is left as it is. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define INTERPRETER "/runtime/bin/python3.13"
#define LONGEST 65536

static const char *const first_arguments[] = {
    "-I", "-X", "utf8", "-c", "from safelight_launcher import main; main()",
};

int main(int count, char **arguments) {
    static char path[LONGEST + sizeof INTERPRETER];
    const size_t own = sizeof first_arguments / sizeof *first_arguments;
    ssize_t length = readlink("/proc/self/exe", path, LONGEST);
    char *name = length > 0 && length < LONGEST ? memrchr(path, '/', (size_t)length) : NULL;
    char **command = calloc(own + (size_t)count + 2, sizeof *command);
    if (name == NULL || command == NULL) {
        perror("safelight: its own folder is not found");
        return 1;
    }
    strcpy(name, INTERPRETER);
    command[0] = path;
    for (size_t i = 0; i < own; i++) command[1 + i] = (char *)first_arguments[i];
    for (int i = 1; i < count; i++) command[own + (size_t)i] = arguments[i];
    execv(path, command);
    fprintf(stderr, "safelight: %s cannot be started: ", path);
    perror("");
    return 1;
}

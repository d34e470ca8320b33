/* Starts Safelight on macOS: loads the CPython of this bundle into this process.
 *
 * It is compiled twice. As Contents/MacOS/Safelight it is the window, which macOS names and shows in
 * the Dock after the bundle that the running executable is in; with arguments it becomes the second
 * one, as the command line loads the libraries of packs. As runtime/bin/python3.13, with INTERPRETER
 * defined, it is the Python of the command line, the engine and its trials: the only executable that
 * may load libraries of other signers. It sets nothing in the environment.
 */

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <mach-o/dyld.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef INTERPRETER
#define RUNTIME ".."
#define PROGRAM
#else
#define RUNTIME "../Resources/runtime"
#define PROGRAM "-I", "-X", "utf8", "-c", "from safelight_launcher import main; main()",
#endif

#ifndef SCRIPT_RUNNER
#define SCRIPT_RUNNER "/usr/bin/osascript"
#endif

static char *const PROGRAM_ARGUMENTS[] = {PROGRAM NULL};
static const int PROGRAM_COUNT = sizeof PROGRAM_ARGUMENTS / sizeof *PROGRAM_ARGUMENTS - 1;

/* Says why nothing starts: on the error stream, or in a box if nobody reads that. */
static int fail(const char *file, const char *reason)
{
    static char text[3 * PATH_MAX];
    snprintf(text, sizeof text, "Safelight cannot start, because %s cannot be used: %s\n"
             "Install Safelight again; your pictures, models and settings stay.", file, reason);
    fprintf(stderr, "%s\n", text);
    if (PROGRAM_COUNT && !isatty(STDERR_FILENO))
        execl(SCRIPT_RUNNER, SCRIPT_RUNNER, "-e", "on run {said}", "-e",
              "display alert \"Safelight\" message said as critical", "-e", "end run", text, NULL);
    return 1;
}

/* Writes the path of a file of the runtime, wherever this program lies and by whatever link it was
   started; returns 0 if there is no such file. */
static int locate(const char *name, char *path)
{
    char started[PATH_MAX], own[PATH_MAX], wanted[2 * PATH_MAX];
    uint32_t size = sizeof started;
    if (_NSGetExecutablePath(started, &size) || !realpath(started, own))
        return 0;
    *strrchr(own, '/') = 0;
    snprintf(wanted, sizeof wanted, "%s/" RUNTIME "/%s", own, name);
    return realpath(wanted, path) != NULL;
}

int main(int count, char **given)
{
    static char interpreter[PATH_MAX], library[PATH_MAX];
    if (!locate("bin/" PYTHON, interpreter))
        return fail("runtime/bin/" PYTHON, strerror(errno));
    if (!locate("lib/lib" PYTHON ".dylib", library))
        return fail("runtime/lib/lib" PYTHON ".dylib", strerror(errno));

    /* Python takes sys.executable, which our child processes run, and the place of its library from
       the first argument. */
    char **arguments = calloc(PROGRAM_COUNT + count + 1, sizeof *arguments);
    if (!arguments)
        return fail(interpreter, strerror(errno));
    arguments[0] = interpreter;
    memcpy(arguments + 1, PROGRAM_ARGUMENTS, PROGRAM_COUNT * sizeof *arguments);
    if (count > 1)
        memcpy(arguments + 1 + PROGRAM_COUNT, given + 1, (count - 1) * sizeof *arguments);
    if (PROGRAM_COUNT && count > 1) {
        execv(interpreter, arguments);
        return fail(interpreter, strerror(errno));
    }

    /* Extension modules look for Python's functions in all libraries of the process. */
    void *python = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    if (!python)
        return fail(library, dlerror());
    int (*run)(int, char **) = (int (*)(int, char **))dlsym(python, "Py_BytesMain");
    return run ? run(PROGRAM_COUNT + count, arguments) : fail(library, dlerror());
}

/* Starts Safelight: loads the interpreter of this folder into this process and gives it the
   arguments. It is compiled twice: safelight.exe has no console, safelight.com has the caller's.
   The interpreter runs in this process, so that the window, its button on the task bar and its
   shortcut are one program for Windows, and Ctrl-C and the exit status need no passing on.
   It sets no environment variable; python313._pth beside the library decides what is imported. */

#include <windows.h>
#include <stdio.h>
#include <wchar.h>

#ifdef WINDOW
#define INTERPRETER L"runtime\\pythonw.exe"
#else
#define INTERPRETER L"runtime\\python.exe"
#endif

#define PROGRAM L"from safelight_launcher import main; main()"
#define LIBRARY L"runtime\\" PYTHON L".dll"
/* ERROR_SYSTEM_INTEGRITY_POLICY_VIOLATION, of which mingw-w64 has no name: a policy of the
   computer, such as Smart App Control, refuses the file. */
#define REFUSED_BY_POLICY 4551
#define LONGEST_PATH 32768

typedef int (*Main)(int, wchar_t **);
typedef void (*SetProgramName)(const wchar_t *);

/* Files without which no code of ours can run, so that only the launcher can name them. */
static const wchar_t *const NEEDED[] = {
    LIBRARY, L"runtime\\" PYTHON L".zip", L"runtime\\" PYTHON L"._pth", INTERPRETER,
    L"runtime\\vcruntime140.dll", L"runtime\\vcruntime140_1.dll",
};

static int fail(const wchar_t *message, const wchar_t *detail)
{
    static wchar_t text[LONGEST_PATH + 1024];
    swprintf(text, sizeof text / sizeof *text, message, detail);
#ifdef WINDOW
    MessageBoxW(NULL, text, L"Safelight", MB_OK | MB_ICONERROR | MB_SETFOREGROUND);
#else
    fwprintf(stderr, L"%ls\n", text);
#endif
    return 1;
}

static int fail_missing(const wchar_t *name)
{
    return fail(L"Safelight cannot start, because this file of it is missing or cannot be read:\n\n"
                L"%ls\n\nIf you opened Safelight inside of a .zip file, unpack all of that first. "
                L"Else an antivirus program may have taken the file away: install Safelight again; "
                L"your pictures, models and settings stay.", name);
}

static int fail_to_load(DWORD error)
{
    wchar_t reason[512] = L"";
    if (error == REFUSED_BY_POLICY)
        return fail(L"Windows does not let Safelight start: Smart App Control, or a rule of this "
                    L"computer's administrator, refuses the file\n\n%ls\n\nIt allows no exception "
                    L"for a single program. A newer version of Safelight may be known to it.",
                    LIBRARY);
    FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, error, 0,
                   reason, sizeof reason / sizeof *reason, NULL);
    return fail(L"Safelight cannot start, because Windows does not load " LIBRARY L": %ls\n"
                L"Install Safelight again; your pictures, models and settings stay.", reason);
}

/* Writes the path of a file of this installation; returns 0 if it is too long for Windows. */
static int locate(const wchar_t *name, wchar_t *path)
{
    DWORD length = GetModuleFileNameW(NULL, path, LONGEST_PATH);
    wchar_t *end = length && length < LONGEST_PATH ? wcsrchr(path, L'\\') : NULL;
    if (!end || (size_t)(end + 1 - path) + wcslen(name) >= LONGEST_PATH)
        return 0;
    wcscpy(end + 1, name);
    return 1;
}

int wmain(int count, wchar_t **given)
{
    static wchar_t path[LONGEST_PATH], interpreter[LONGEST_PATH];
    wchar_t *fixed[] = {NULL, L"-I", L"-X", L"utf8", L"-c", PROGRAM};
    const int fixed_count = sizeof fixed / sizeof *fixed;
    for (size_t i = 0; i < sizeof NEEDED / sizeof *NEEDED; i++)
        if (!locate(NEEDED[i], path) || GetFileAttributesW(path) == INVALID_FILE_ATTRIBUTES)
            return fail_missing(NEEDED[i]);

    /* No library is looked for in the current folder, which may be one of downloads; those of
       packages find the C++ runtime beside the interpreter. */
    SetDllDirectoryW(L"");
    locate(L"runtime", path);
    AddDllDirectory(path);
    locate(LIBRARY, path);
    HMODULE library = LoadLibraryExW(
        path, NULL, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
    if (!library)
        return fail_to_load(GetLastError());
    Main run = (Main)(void *)GetProcAddress(library, "Py_Main");
    SetProgramName set_name = (SetProgramName)(void *)GetProcAddress(library, "Py_SetProgramName");
    wchar_t **arguments = calloc(fixed_count + count, sizeof *arguments);
    if (!run || !set_name || !arguments)
        return fail_missing(LIBRARY);

    /* Our child processes run this program: sys.executable. */
    locate(INTERPRETER, interpreter);
    set_name(interpreter);
    memcpy(arguments, fixed, sizeof fixed);
    arguments[0] = interpreter;
    for (int i = 1; i < count; i++)
        arguments[fixed_count + i - 1] = given[i];
    /* The program ends the process itself. Python returns only after an error that nothing has
       handled; a console has shown it. */
    int status = run(fixed_count + count - 1, arguments);
#ifdef WINDOW
    if (status)
        fail(L"Safelight cannot start. Files of it may be missing or changed: an antivirus program "
             L"may have taken them away.\n\nThe command \"%ls doctor\" names them. Install "
             L"Safelight again; your pictures, models and settings stay.", L"safelight.com");
#endif
    return status;
}

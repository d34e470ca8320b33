/* The functions of Windows' icuuc.dll that Qt imports, for Wine, which has none. They know no
   character sets, as on a system whose data is missing: Qt then offers UTF-8, UTF-16, UTF-32,
   Latin-1 and the system's own, which it brings itself. */

enum { FILE_ACCESS_ERROR = 4 };

#define EXPORT __declspec(dllexport)
#define NOTHING(name) EXPORT void name(void) {}
#define ZERO(name) EXPORT void *name(void) { return 0; }

EXPORT void *ucnv_open(const char *name, int *error)
{
    (void)name;
    *error = FILE_ACCESS_ERROR;
    return 0;
}

ZERO(ucnv_countAvailable) ZERO(ucnv_getAvailableName) ZERO(ucnv_getMaxCharSize)
ZERO(ucnv_getName) ZERO(ucnv_getStandardName)
ZERO(ucnv_fromUCountPending) ZERO(ucnv_toUCountPending)
NOTHING(UCNV_FROM_U_CALLBACK_SUBSTITUTE) NOTHING(UCNV_TO_U_CALLBACK_SUBSTITUTE)
NOTHING(ucnv_cbFromUWriteUChars) NOTHING(ucnv_cbToUWriteUChars) NOTHING(ucnv_close)
NOTHING(ucnv_fromUnicode) NOTHING(ucnv_getFromUCallBack) NOTHING(ucnv_getToUCallBack)
NOTHING(ucnv_reset) NOTHING(ucnv_setFromUCallBack) NOTHING(ucnv_setToUCallBack)
NOTHING(ucnv_toUnicode)

; The installer for one person, without administrator rights. `installer.py` defines VERSION, NUMBERS,
; OUT, ICON, SIZE_KB, LONGEST, the length of the longest path below the folder, TREE, the folder of a
; tree in that of its version, and NAMES, a file of macros for everything in the tree: Unpack, Place
; and Remove.
; Exit status: 0 done, 1 given up by the person, 2 refused with a message.

Unicode true
Target amd64-unicode
SetCompressor /SOLID lzma
; The same tree gives the same bytes.
SetDateSave off
ManifestDPIAware true
ManifestLongPathAware true
ManifestSupportedOS Win10
RequestExecutionLevel user

!include MUI2.nsh
!include FileFunc.nsh
!include LogicLib.nsh
!include WinVer.nsh
!include "${NAMES}"

!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Safelight"
!define APP_PATHS_KEY "Software\Microsoft\Windows\CurrentVersion\App Paths\safelight.exe"
; The oldest Windows that Qt runs on: 10, version 1809.
!define OLDEST_BUILD 17763
; The longest path that every program of Windows can open.
!define MAX_PATH 259
!define STAYS "Your pictures, models and settings stay."

Name "Safelight"
OutFile "${OUT}"
InstallDir "$LOCALAPPDATA\Programs\Safelight"
InstallDirRegKey HKCU "${UNINSTALL_KEY}" "InstallLocation"
BrandingText "Safelight ${VERSION}"
VIProductVersion "${NUMBERS}"
VIAddVersionKey "ProductName" "Safelight"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "Installs Safelight"
VIAddVersionKey "LegalCopyright" "Apache License 2.0"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_ABORTWARNING
!define MUI_FINISHPAGE_RUN "$INSTDIR\safelight.exe"
!define MUI_FINISHPAGE_RUN_TEXT "Open Safelight"
!define MUI_PAGE_CUSTOMFUNCTION_LEAVE CheckFolder
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!define MUI_COMPONENTSPAGE_NODESC
!define MUI_COMPONENTSPAGE_TEXT_TOP "${STAYS} Downloaded runtimes and caches can be made again; \
  they are removed too if you tick them."
!insertmacro MUI_UNPAGE_COMPONENTS
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

; Says why nothing is done, and ends; `message` is the whole text.
!macro Refuse message
  MessageBox MB_OK|MB_ICONSTOP "${message}" /SD IDOK
  SetErrorLevel 2
  Quit
!macroend

; One installer or uninstaller at a time; Windows frees the mutex when the process ends.
!macro ClaimSetup
  System::Call 'kernel32::CreateMutexW(p 0, i 0, w "Local\SafelightSetup") p .r0 ?e'
  Pop $1
  ${If} $1 = 183
    !insertmacro Refuse "Safelight is being installed or removed already. Wait until that has ended."
  ${EndIf}
!macroend

; Waits until no process of the tree in $R0 runs: its library cannot be opened for writing before.
!macro WaitForEnd un
Function ${un}WaitForEnd
  IfFileExists "$R0\runtime\python313.dll" 0 ended
again:
  ClearErrors
  FileOpen $0 "$R0\runtime\python313.dll" a
  IfErrors 0 close
  MessageBox MB_RETRYCANCEL|MB_ICONEXCLAMATION "Safelight is open. Close its window, and commands of it \
    that still run; then press Retry. If it was closed just now, wait a moment." /SD IDCANCEL IDRETRY again
  SetErrorLevel 2
  Quit
close:
  FileClose $0
ended:
FunctionEnd
!macroend
!insertmacro WaitForEnd ""
!insertmacro WaitForEnd "un."

Function .onInit
  !insertmacro ClaimSetup
  ${IfNot} ${AtLeastWin10}
  ${OrIfNot} ${AtLeastBuild} ${OLDEST_BUILD}
    !insertmacro Refuse "Safelight needs Windows 10, version 1809, or newer."
  ${EndIf}
FunctionEnd

; Refuses a folder that holds other things, as all of its content would be ours to replace, and one
; so deep that some programs could not open the files.
Function CheckFolder
  StrLen $0 $INSTDIR
  IntOp $0 $0 + ${LONGEST}
  ${If} $0 > ${MAX_PATH}
    MessageBox MB_OK|MB_ICONEXCLAMATION "The name of this folder is too long for Windows. Choose a \
      shorter one." /SD IDOK
    SetErrorLevel 2
    Abort
  ${EndIf}
  ${If} ${FileExists} "$INSTDIR\*.*"
  ${AndIfNot} ${FileExists} "$INSTDIR\safelight.exe"
  ${AndIfNot} ${FileExists} "$INSTDIR\new\*.*"
    ${DirState} $INSTDIR $0
    ${If} $0 = 1
      MessageBox MB_OK|MB_ICONEXCLAMATION "There are other files in this folder. Choose an empty or \
        a new one." /SD IDOK
      SetErrorLevel 2
      Abort
    ${EndIf}
  ${EndIf}
FunctionEnd

; Puts a file or folder of the new version in the place of the present one.
!macro Swap name
  Rename "$INSTDIR\${name}" "$INSTDIR\old\${name}"
  Rename "$INSTDIR\new\${name}" "$INSTDIR\${name}"
!macroend

Section "Safelight"
  ${If} ${Silent}
    Call CheckFolder
  ${EndIf}
  StrCpy $R0 $INSTDIR
  Call WaitForEnd

  ; All of the new version is on disk before anything of the present one goes: with a full disk, or
  ; where someone gives up, the present one is still whole.
  RMDir /r "$INSTDIR\new"
  RMDir /r "$INSTDIR\old"
  ClearErrors
  !insertmacro Unpack
  ${If} ${Errors}
    SetOutPath "$INSTDIR"
    RMDir /r "$INSTDIR\new"
    RMDir "$INSTDIR"
    !insertmacro Refuse "The files cannot be written to $INSTDIR. The disk may be full, or a program \
      that guards against viruses may forbid it. What was installed before is unchanged."
  ${EndIf}
  SetOutPath "$INSTDIR"
  CreateDirectory "$INSTDIR\old"
  !insertmacro Place
  RMDir /r "$INSTDIR\old"
  RMDir "$INSTDIR\new"
  ${If} ${FileExists} "$INSTDIR\new\*.*"
    !insertmacro Refuse "Some files of Safelight are in use and were not replaced. Close Safelight, or \
      restart the computer, then install it again."
  ${EndIf}
  WriteUninstaller "$INSTDIR\uninstall.exe"

  CreateShortCut "$SMPROGRAMS\Safelight.lnk" "$INSTDIR\safelight.exe"
  WriteRegStr HKCU "${APP_PATHS_KEY}" "" "$INSTDIR\safelight.exe"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "Safelight"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\safelight.exe"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "Safelight"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" ${SIZE_KB}
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1
SectionEnd

Function un.onInit
  !insertmacro ClaimSetup
FunctionEnd

; Removes the programs of updates, which lie with the user's data but are none.
Function un.RemoveVersions
  FindFirst $R1 $R2 "$LOCALAPPDATA\safelight\versions\*.*"
  ${DoWhile} $R2 != ""
    ${If} $R2 != "."
    ${AndIf} $R2 != ".."
      StrCpy $R0 "$LOCALAPPDATA\safelight\versions\$R2\${TREE}"
      Call un.WaitForEnd
    ${EndIf}
    FindNext $R1 $R2
  ${Loop}
  FindClose $R1
  RMDir /r "$LOCALAPPDATA\safelight\versions"
FunctionEnd

Section "un.Safelight"
  SectionIn RO
  StrCpy $R0 $INSTDIR
  Call un.WaitForEnd
  Call un.RemoveVersions
  ClearErrors
  !insertmacro Remove
  RMDir /r "$INSTDIR\new"
  RMDir /r "$INSTDIR\old"
  ${If} ${Errors}
    !insertmacro Refuse "Some files of Safelight are in use. Close Safelight, or restart the computer, \
      then remove it again. ${STAYS}"
  ${EndIf}
  Delete "$INSTDIR\uninstall.exe"
  ; Other files in the folder are not ours: a folder that is not empty stays.
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\Safelight.lnk"
  DeleteRegKey HKCU "${APP_PATHS_KEY}"
  DeleteRegKey HKCU "${UNINSTALL_KEY}"
SectionEnd

Section /o "un.Downloaded runtimes and caches"
  RMDir /r "$LOCALAPPDATA\safelight\packs"
  RMDir /r "$LOCALAPPDATA\safelight\downloads"
  RMDir /r "$LOCALAPPDATA\safelight\Cache"
SectionEnd

@echo off
rem Makes the virtual environment with what the app needs; "setup.cmd tools" adds what the tests need.
rem Does nothing where constraints.txt is as it was then. Needs Python 3.11 or newer.
setlocal
cd /d "%~dp0"
set extra=[intel-openvino]
if "%~1"=="tools" set extra=[dev]
fc /b constraints.txt ".venv\installed%extra%.txt" > nul 2>&1 && exit /b 0
py -3 -m venv .venv || python -m venv .venv || exit /b 1
.venv\Scripts\python -m pip install --quiet --constraint constraints.txt --editable ".%extra%" || exit /b 1
copy /y constraints.txt ".venv\installed%extra%.txt" > nul

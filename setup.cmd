@echo off
rem Makes the virtual environment once. Called by run.cmd and test.cmd; needs Python 3.11 or newer.
cd /d "%~dp0"
if exist .venv\.installed exit /b 0
py -3 -m venv .venv || python -m venv .venv || exit /b 1
.venv\Scripts\python -m pip install --quiet --editable ".[dev]" || exit /b 1
echo installed> .venv\.installed

@echo off
rem Sets everything up and opens the window.
call "%~dp0setup.cmd" || exit /b 1
"%~dp0.venv\Scripts\python" -I -m app

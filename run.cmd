@echo off
rem Sets everything up and makes a picture with the starter model.
call "%~dp0setup.cmd" || exit /b 1
"%~dp0.venv\Scripts\python" -m app generate "a red house by the sea at night"

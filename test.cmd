@echo off
rem Sets everything up and runs the tests, without torch.
call "%~dp0setup.cmd" tools || exit /b 1
"%~dp0.venv\Scripts\python" -m pytest -n 2 --dist loadfile --durations=20 -m "not oracle and not slow and not gpu"

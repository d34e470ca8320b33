"""The application as a person has it: its own process, a real X server, a real mouse and wheel.

A test takes the fixture `real_window`, one window for all tests of a worker, put back as it was
first before each test; or `start_real_window`, for those that end it. Without Xvfb, openbox and
xdotool they are skipped.

    def test_the_wheel_scrolls_the_form(real_window: RealWindow) -> None:
        real_window.click("form.prompt")
        real_window.wheel("form.advanced.rows.steps.slider", 3)
        real_window.wait_for("form.verticalScrollBar().value() > 0")
        assert real_window.ask("form.prompt.hasFocus()")

Widgets are named by Python expressions, which the application evaluates in its own thread; they
may use `window`, `form`, `session`, `state` (the form's values), `application`, and Qt's modules.
`see(path)` keeps a picture of the screen, to look at.
"""

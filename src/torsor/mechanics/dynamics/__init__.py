"""Forces, accelerations and energy."""

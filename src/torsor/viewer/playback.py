"""The clock of a replay: play, pause, scrub, loop, speed. It is told the time, so that tests need not wait."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Playback:
    """Where in a motion a replay is.

    Attributes
    ----------
    duration : float
        Length of the motion, s; 0 if there is none.
    time : float
        Where the replay is, from 0 to ``duration``, s.
    playing, loop : bool
    speed : float
        Seconds of the motion per second.
    """

    duration: float
    time: float = 0.0
    playing: bool = False
    loop: bool = True
    speed: float = 1.0

    def play(self) -> None:
        """Go on, or from the start if the end is reached."""
        if self.duration > 0.0:
            if not self.loop and self.time >= self.duration:
                self.time = 0.0
            self.playing = True

    def pause(self) -> None:
        """Stay at the time that has been reached."""
        self.playing = False

    def scrub(self, time: float) -> None:
        """Go to a time, s; beyond the ends, to the nearer end."""
        self.time = min(max(float(time), 0.0), self.duration)

    def advance(self, passed: float) -> float:
        """The time of the motion after ``passed`` seconds on the wall; at the end it starts again, or stops."""
        if not self.playing or not self.duration > 0.0:
            return self.time
        time = self.time + max(passed, 0.0) * self.speed
        if time >= self.duration:
            if self.loop:
                time %= self.duration
            else:
                time, self.playing = self.duration, False
        self.time = time
        return time

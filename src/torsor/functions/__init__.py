"""From an algorithm to a public function: described, checked, compiled and called."""

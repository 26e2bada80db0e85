"""What is linear in the robot's parameters."""

"""What is on the disk of the person: checkpoints, pictures, and the trash."""

"""Image prompts: IP-Adapter files, CLIP's vision encoders, and what is made of the pictures."""

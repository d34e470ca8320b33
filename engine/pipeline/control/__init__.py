"""Control layers: maps that lead a picture's denoising through networks of their own."""

"""Tests of image prompts: adapters, vision encoders, pictures, masks and strengths."""

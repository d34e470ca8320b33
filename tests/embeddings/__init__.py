"""Tests of embeddings: files, pictures, folders."""

"""The knowledge lifecycle: nodes move on evidence and on what people decide, never on being said."""

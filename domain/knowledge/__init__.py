<<<<<<< HEAD
"""The knowledge lifecycle: nodes move on evidence and on what people decide, never on being said."""
=======
"""Knowledge nodes and every transition their states allow."""
>>>>>>> house

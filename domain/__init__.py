"""The pure core: values in, values out.

Nothing here has a clock, chance, an environment, a network, a file or a database; time and ids arrive as arguments.
"""

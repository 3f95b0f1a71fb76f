"""The world as workflows see it, in memory: one fake for each port, under the port's file name.

Each fake keeps its port's promises (asked twice, it answers as before); what goes wrong is planned with `Faults`.
"""

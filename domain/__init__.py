"""Pure rules of the system: values in, values out, with no clock, chance, environment, network or store."""

// Loaded by name into the process of each page; nothing calls it.

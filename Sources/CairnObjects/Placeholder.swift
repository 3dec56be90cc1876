// Placeholder until the module has its first file.

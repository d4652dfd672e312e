"""Problems, algorithms and features by the names that the command and study files use."""

from hypothesis import settings

# The same examples every time, and no wall clock: what fails here fails everywhere.
settings.register_profile("aapi", derandomize=True, deadline=None, max_examples=150)
settings.load_profile("aapi")

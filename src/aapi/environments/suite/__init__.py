"""The continuing suite: tasks that never end, from the descriptions of DeepMind's C-suite (Zhao et al. 2022).

Finite ones are models with exact optima, those with observation vectors are `ContinuousProblem`s, and each is a
Gymnasium environment. Sutton and Barto's access control, which C-suite has too, is `aapi.environments.access_control`.
"""

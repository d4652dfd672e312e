"""Compiled and pure: the kernel decorator, random streams, linear algebra."""

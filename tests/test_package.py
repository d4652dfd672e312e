import pytest

import aapi


def test_everything_promised_at_the_front_door_is_there():
    for name in aapi.__all__:
        assert getattr(aapi, name) is not None
    assert set(aapi.__all__) < set(dir(aapi))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = aapi.nothing

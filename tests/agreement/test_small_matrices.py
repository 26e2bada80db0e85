"""One thread of BLAS for small matrices, and afterwards as many as before."""

import numpy as np
import pytest
import scipy.linalg.lapack  # noqa: F401  its library is one of those that are asked

from torsor.arrays.small_matrices import USERS, controls, one_thread


def test_there_is_one_thread_within_and_what_there_was_after_even_if_something_fails():
    found = controls()
    if not found:
        pytest.skip(f"the BLAS of {' and '.join(USERS)} is not OpenBLAS")
    before = [get() for get, _ in found]
    try:
        for _, change in found:
            change(2)
        several = [get() for get, _ in found]  # an OpenBLAS may be built for one
        with pytest.raises(ZeroDivisionError), one_thread():
            assert [get() for get, _ in found] == [1] * len(found)
            with one_thread():
                np.ones((200, 200)) @ np.ones((200, 200))
            assert [get() for get, _ in found] == [1] * len(found)
            raise ZeroDivisionError
        assert [get() for get, _ in found] == several
    finally:
        for (_, change), number in zip(found, before, strict=True):
            change(number)

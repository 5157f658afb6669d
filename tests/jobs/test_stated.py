"""What the user states beside what a log says."""

import pytest

from hopline.errors import InputError
from hopline.jobs.stated import refuse_other


@pytest.mark.parametrize(("given", "said"), [(None, [8]), (8, [8, 8]), (8, [4, None]), (8, [None]), (8, [])])
def test_a_log_that_is_silent_or_says_the_same_is_no_reason_to_refuse(given, said):
    refuse_other("-n", given, said)


def test_a_log_that_says_otherwise_is():
    with pytest.raises(InputError, match=r"^-n 8: the log says 4; leave -n away, it is for logs that do not say$"):
        refuse_other("-n", 8, [8, 4])

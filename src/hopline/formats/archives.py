"""Tar archives that are whole.

What belongs here: opening one so that damage between its members is an error. tarfile takes a head that is none for the end of
the archive, and what stands behind it would be missing without a word.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import tarfile


def archive(file: IO[bytes], mode: Literal["r:", "r|"]) -> tarfile.TarFile:
    """The archive in a file. It raises tarfile.ReadError where it does not end as an archive does, with blocks of zeros."""
    import tarfile as tar

    class Head(tar.TarInfo):
        """A member's head; the end is one of zeros."""

        @classmethod
        def fromtarfile(cls, tarfile: tarfile.TarFile) -> Head:
            """The next one. Raises ReadError where that is neither one nor zeros."""
            try:
                return super().fromtarfile(tarfile)
            except tar.EOFHeaderError:  # type: ignore[attr-defined]
                raise
            except tar.HeaderError as error:
                raise tar.ReadError(f"{error} after byte {tarfile.offset}") from None

    return tar.open(fileobj=file, mode=mode, tarinfo=Head)

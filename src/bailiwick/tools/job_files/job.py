"""The job that a file asks for, by the words and the defaults of ``bailiwick submit -f``."""

from __future__ import annotations

from typing import Final

from bailiwick.client.bodies import make_body, problems_of
from bailiwick.tools.job_files.reading import BadJobFile, read_job_file
from bailiwick.tools.job_files.words import body_of, defaults_of
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire.jobs import JobFile, JobFileMistake, JobFileRead, NewJob

NAME: Final = "job file"


def job_of_file(file: JobFile) -> JobFileRead:
    """The job, for the tenant and project that were told unless the file names others."""
    try:
        words = read_job_file(file.text.encode(), name=NAME)
    except BadJobFile as bad:
        told = [JobFileMistake(**each._asdict()) for each in bad.mistakes]
        return JobFileRead(job=None, mistakes=told)
    except InvalidValue as error:
        return _wrong(str(error))
    if "tenant" not in words:
        words["tenant"] = file.tenant
        if "project" not in words and file.project is not None:
            words["project"] = file.project
    fields = body_of(defaults_of(words) | words)
    for where, expected in problems_of(NewJob, fields):
        return _wrong(f"{'.'.join(str(part) for part in where)}: {expected}")
    return JobFileRead(job=make_body(NewJob, **fields), mistakes=[])


def _wrong(message: str) -> JobFileRead:
    """Something that has no place of its own: a word that is missing."""
    return JobFileRead(job=None, mistakes=[JobFileMistake(line=1, column=1, message=message)])

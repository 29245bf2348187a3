/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The phases of a job, for the files that implement them: copy_start.c begins a job,
 * copy_job.c begins its phases, copy_answers.c ends the phases that called a server.
 */
#ifndef RPCRDMA_TOOLS_COPY_PHASE_H
#define RPCRDMA_TOOLS_COPY_PHASE_H

#include "client/copy.h"

/* Begins @phase, or the clean-up of a job that has failed. */
void copy_phase_begin(struct copy_job *, enum copy_phase);
/* Begins to make the file, after copy_place_judge has decided about the existing
 * file. */
void copy_phase_new(struct copy_job *);
/* Begins to set the owner, or to copy, when the temporary or the existing file is
 * open. */
void copy_phase_made(struct copy_job *);
/* Continues after setting the owner, which succeeded if @ok. */
void copy_phase_owned(struct copy_job *, bool ok);
/* Begins to write to the existing file. */
void copy_phase_in_place(struct copy_job *);
/* Writes in place, because a new file cannot have the old file's owner or cannot be
 * made. */
void copy_phase_replace(struct copy_job *);
/* Begins to replace the existing file, which cannot be written, with a new file (-f).
 */
void copy_phase_forced(struct copy_job *);
/* Removes the files that the job has made, then ends the job.  All the job's calls must
 * have ended. */
void copy_job_clean(struct copy_job *);
/* Reports the job's result and frees the job. */
void copy_job_end(struct copy_job *);
/* Reports that the old file still has the backup's name. */
void copy_job_report_backup(struct copy_job *);
/* Reports that the temporary file, with the path @text, may still exist. */
void copy_job_report_left(struct copy_job *, const char *text);
bool copy_not_allowed(int status);
/* Returns true if -f permits replacing a file that cannot be written and the job has
 * not tried to do so yet. */
bool copy_job_forces(const struct copy_job *);

#endif

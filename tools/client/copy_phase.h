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
/* Begins to make the file, after the existing one was judged. */
void copy_phase_new(struct copy_job *);
/* Begins to set the owner, or to copy, after the temporary or existing file was opened.
 */
void copy_phase_made(struct copy_job *);
/* Continues after setting the owner, which succeeded if @ok. */
void copy_phase_owned(struct copy_job *, bool ok);
/* Begins to write to the existing file. */
void copy_phase_in_place(struct copy_job *);
/* Writes in place because a new file cannot have the old one's owner, or cannot be
 * made. */
void copy_phase_replace(struct copy_job *);
/* Begins to replace the existing file, which cannot be written, by a new one (-f). */
void copy_phase_forced(struct copy_job *);
/* Removes what was made, after all calls have ended, then ends the job. */
void copy_job_clean(struct copy_job *);
/* Reports and frees the job. */
void copy_job_end(struct copy_job *);
/* Reports that the old file still has the backup's name. */
void copy_job_report_backup(struct copy_job *);
/* Reports that the temporary, with the path @text, may still exist. */
void copy_job_report_left(struct copy_job *, const char *text);
bool copy_not_allowed(int status);
/* Returns whether -f permits replacing a file that cannot be written, and the job has
 * not tried that yet. */
bool copy_job_forces(const struct copy_job *);

#endif

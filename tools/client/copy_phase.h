/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The phases of a job, for the files that lead it through them: copy_start.c begins it,
 * copy_job.c begins its phases, copy_answers.c ends those that called a server.
 */
#ifndef RPCRDMA_TOOLS_COPY_PHASE_H
#define RPCRDMA_TOOLS_COPY_PHASE_H

#include "client/copy.h"

/* Begins @phase, or the clean-up of a job that has failed. */
void copy_phase_begin(struct copy_job *, enum copy_phase);
/* The place is judged: begins what makes the file. */
void copy_phase_new(struct copy_job *);
/* The temporary, or the file in the place, is there; whose is it to be? */
void copy_phase_made(struct copy_job *);
/* Its owner was given, or not. */
void copy_phase_owned(struct copy_job *, bool ok);
/* Writes to the file in the place. */
void copy_phase_in_place(struct copy_job *);
/* The same where a new file cannot have the old one's owner, or cannot be made. */
void copy_phase_replace(struct copy_job *);
/* The file in the place could not be written: a new one takes its place (-f). */
void copy_phase_forced(struct copy_job *);
/* All calls have ended: removes what was made, then ends the job. */
void copy_job_clean(struct copy_job *);
/* Reports and frees the job. */
void copy_job_end(struct copy_job *);
/* Reports that the old file has the backup's name still. */
void copy_job_report_backup(struct copy_job *);
/* Reports that the temporary is still there, in @words. */
void copy_job_report_left(struct copy_job *, const char *text);
bool copy_not_allowed(int status);
/* -f: what may not be written may still be replaced, unless that was tried. */
bool copy_job_forces(const struct copy_job *);

#endif

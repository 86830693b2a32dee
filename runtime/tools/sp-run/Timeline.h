/// A run as a picture: rows of ranks and streams, bars of what they did.
#ifndef SP_RUN_TIMELINE_H
#define SP_RUN_TIMELINE_H

#include "Options.h"

#include "sprt/statistics.h"

/// Writes the session's last run to `options.svg`. False after a diagnostic.
bool writeTimeline(const sprt_session *session, const Options &options);

#endif // SP_RUN_TIMELINE_H

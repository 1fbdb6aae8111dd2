// Streams that fdopen() makes above the job's stdout and stderr: what is written to them is written in whole
// lines with tags, as other output is.
#pragma once

#include <cstdio>

namespace clump::image {

class Image;

/// The calling rank's descriptor below the stream; -1 if it is no such stream.
int number_of_job_stream(const std::FILE* stream);
/// Called when the rank ends: closes its streams of this kind; `flushes`: what they hold is written first.
void end_job_streams(Image& image, bool flushes);

}  // namespace clump::image

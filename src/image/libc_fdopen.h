// Streams that fdopen() makes above the job's stdout and stderr: what is written to them keeps whole lines
// and tags, as what is printed.
#pragma once

#include <cstdio>

namespace clump::image {

class Image;

/// The descriptor of the calling rank's that the stream is above; -1 if it is no such stream.
int number_of_job_stream(const std::FILE* stream);
/// The rank ends: such streams of it end with it; `flushes`: what they hold is written first.
void end_job_streams(Image& image, bool flushes);

}  // namespace clump::image

/**
 * Audio that endpoints take, by its first bytes.
 *
 * @module
 */

/** What an audio is. */
export interface AudioType {
  mediaType: string;
  /** Endpoints tell types by the name of the file. */
  extension: string;
}

const OGG: AudioType = { mediaType: "audio/ogg", extension: "ogg" };
const WAV: AudioType = { mediaType: "audio/wav", extension: "wav" };
const MP3: AudioType = { mediaType: "audio/mpeg", extension: "mp3" };
const M4A: AudioType = { mediaType: "audio/mp4", extension: "m4a" };
const MP4: AudioType = { mediaType: "audio/mp4", extension: "mp4" };
const WEBM: AudioType = { mediaType: "audio/webm", extension: "webm" };
const FLAC: AudioType = { mediaType: "audio/flac", extension: "flac" };

/** In words, for errors. */
export const AUDIO_TYPES = "FLAC, M4A, MP3, MP4, Ogg, WAV or WebM";

/** Brands of ISO media that hold sound (the same box begins pictures, too). */
const MP4_BRANDS = /^(M4V |MSNV|dash|iso[2-9m]|mp4[12]|avc1|F4V )$/;

/** The type of an audio, or of a video with sound; undefined for anything else. */
export function audioType(bytes: Uint8Array): AudioType | undefined {
  const text = (at: number, length: number) =>
    String.fromCharCode(...bytes.subarray(at, at + length));
  if (text(0, 4) === "OggS") return OGG;
  if (text(0, 4) === "fLaC") return FLAC;
  if (text(0, 4) === "RIFF" && text(8, 4) === "WAVE") return WAV;
  if (text(4, 4) === "ftyp") {
    const brand = text(8, 4);
    if (/^M4[AB] $/.test(brand)) return M4A;
    return MP4_BRANDS.test(brand) ? MP4 : undefined;
  }
  // EBML; Matroska is told from WebM by its document type alone.
  if (text(0, 4) === "\x1a\x45\xdf\xa3") return text(4, 60).includes("webm") ? WEBM : undefined;
  if (text(0, 3) === "ID3" || isMpegFrame(bytes)) return MP3;
  return undefined;
}

/** Whether a frame of MPEG audio, layer I to III, begins here (ISO 11172-3, 2.4.1.3). */
function isMpegFrame(bytes: Uint8Array): boolean {
  const [sync = 0, second = 0, third = 0] = bytes;
  const isSync = sync === 0xff && (second & 0xe0) === 0xe0;
  const [version, layer] = [(second >> 3) & 3, (second >> 1) & 3];
  const [bitrate, rate] = [third >> 4, (third >> 2) & 3];
  return isSync && version !== 1 && layer !== 0 && bitrate !== 15 && bitrate !== 0 && rate !== 3;
}

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { cutText } from "./cut_text.ts";
import { readUpload, type Upload } from "./read_upload.ts";
import { type DocumentReader, MAX_TEXT_CHARS } from "../contract/documents.ts";

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 7]);

function upload(content: string | Uint8Array, facts: Partial<Upload> = {}): Upload {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return { param: "files[0]", name: "a.txt", bytes, expects: "any", ...facts };
}

/** Reads everything it is asked for, and notes what that was. */
function reader(answer: Error | { mediaType: string; text: string }) {
  const asked: { name: string; bytes: Uint8Array }[] = [];
  const documents: DocumentReader = {
    extract(document) {
      asked.push(document);
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
  return { documents, asked };
}

const NEVER = new AbortController().signal;
const none = reader(new Error("must not be asked"));

function refusal(
  file: Upload,
  documents = none.documents,
  signal = NEVER,
): Promise<ServiceError> {
  return assertRejects(() => readUpload(file, documents, signal), ServiceError);
}

Deno.test("readUpload() knows images by their bytes, not by name or field", async () => {
  for (const expects of ["any", "image"] as const) {
    assertEquals(
      await readUpload(upload(PNG, { name: "notes.txt", expects }), none.documents, NEVER),
      { type: "image", mediaType: "image/png", bytes: PNG },
    );
  }
});

Deno.test("readUpload() reads text files itself, whatever they are called", async () => {
  for (const name of ["data.csv", "photo.png", "x.docx", "x"]) {
    const file = upload("a,b\n1,2\n", { name });
    assertEquals(await readUpload(file, none.documents, NEVER), {
      type: "document",
      name,
      mediaType: "text/plain",
      text: "a,b\n1,2\n",
      bytes: file.bytes,
    });
  }
});

Deno.test("readUpload() cuts a long text file and says so", async () => {
  const part = await readUpload(upload("x".repeat(MAX_TEXT_CHARS + 5)), none.documents, NEVER);
  assertEquals(part.type === "document" && part.text, cutText("x".repeat(MAX_TEXT_CHARS + 5)));
});

Deno.test("readUpload() gives everything else to the reader, PDFs of ASCII too", async () => {
  const { documents, asked } = reader({ mediaType: "application/pdf", text: "[page 1]\nhi" });
  for (const content of ["%PDF-1.7\nall ascii", new Uint8Array([0x50, 0x4b, 3, 4])]) {
    const file = upload(content, { name: "a.pdf" });
    assertEquals(await readUpload(file, documents, NEVER), {
      type: "document",
      name: "a.pdf",
      mediaType: "application/pdf",
      text: "[page 1]\nhi",
      bytes: file.bytes,
    });
  }
  assertEquals(asked.length, 2);
});

Deno.test("readUpload() names the field of what the reader refuses", async () => {
  for (const code of ["unreadable_document", "unsupported_media_type", "overloaded"] as const) {
    const { documents } = reader(new ServiceError(code, "It is encrypted", { retryAfterS: 3 }));
    const error = await refusal(upload("%PDF-1.7"), documents);
    assertEquals(error.code, code);
    assertEquals(error.details, { param: "files[0]", retryAfterS: 3 });
  }
});

Deno.test("readUpload() refuses an empty file, naming it", async () => {
  const error = await refusal(upload("", { name: "empty.md" }));
  assertEquals([error.code, error.details.param], ["invalid_request", "files[0]"]);
  assertStringIncludes(error.message, '"empty.md"');
});

Deno.test("readUpload() refuses what is no image where one must stand", async () => {
  for (const content of ["hello", "%PDF-1.7", "<svg/>"]) {
    const error = await refusal(upload(content, { param: "image", name: "", expects: "image" }));
    assertEquals([error.code, error.details.param], ["unsupported_media_type", "image"]);
  }
});

Deno.test("readUpload() makes one line of any name", async () => {
  for (
    const [name, shown] of [
      ["a]\r\n[file: b", "a] [file: b"],
      ["\u2028\u0000", "file"],
      ["", "file"],
      ["C:\\Users\\me\\a.txt", "C:\\Users\\me\\a.txt"],
      ["\ud800x", "\ufffdx"],
      ["n".repeat(1_000), "n".repeat(255)],
    ] as const
  ) {
    const part = await readUpload(upload("x", { name }), none.documents, NEVER);
    assertEquals(part.type === "document" && part.name, shown);
  }
});

Deno.test("readUpload() reads nothing after an abort", async () => {
  const reason = new ServiceError("turn_cancelled", "gone");
  assertEquals(await refusal(upload("x"), none.documents, AbortSignal.abort(reason)), reason);
});

import type en from "./en.ts";

const de: typeof en = {
  lead: "Anfragen werden mit einem Geheimnis unterschrieben, das beide Seiten haben.",
  replace:
    "Ein Geheimnis ist gesetzt. Ein anderes gilt sofort, und die Gegenseite braucht es auch.",
  make: "Geheimnis erzeugen",
  makeAnother: "Anderes Geheimnis erzeugen",
  once: "Gespeichert. Gib es dem Programm, das sendet: Es wird nicht noch einmal gezeigt.",
  copy: "Kopieren",
};

export default de;

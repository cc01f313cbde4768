/**
 * Labels of the fields that every channel has, in other languages than English; by language and field.
 *
 * @module
 */

import type { COMMON_FIELDS } from "../../channel/setup/common_fields.ts";

type Labels = Readonly<Record<keyof typeof COMMON_FIELDS, string>>;

const LABELS: Readonly<Record<string, Labels>> = {
  de: {
    enabled: "Eingeschaltet",
    allowFrom: "Kennungen derer, die schreiben dürfen; * für alle",
    streaming: "Antworten Stück für Stück senden",
    sendProgress: "Zwischenstände senden",
    sendToolHints: "Hinweise auf Werkzeuge senden",
    showReasoning: "Überlegungen senden",
    sendMaxRetries: "Versuche, eine Nachricht zuzustellen",
    catchUpS: "Sekunden, nach denen eine Nachricht zu alt für eine Antwort ist",
    pairing: "Unbekannten einen Code geben, mit dem man sie schreiben lässt",
  },
  es: {
    enabled: "Activado",
    allowFrom: "Identificadores de quienes pueden escribir; * para todos",
    streaming: "Enviar las respuestas por partes",
    sendProgress: "Enviar el progreso",
    sendToolHints: "Enviar indicaciones de herramientas",
    showReasoning: "Enviar el razonamiento",
    sendMaxRetries: "Intentos de entregar un mensaje",
    catchUpS: "Segundos tras los cuales un mensaje es demasiado antiguo para responderlo",
    pairing: "Dar a los desconocidos un código con el que se les permite escribir",
  },
  zh: {
    enabled: "启用",
    allowFrom: "允许发消息者的 ID；* 表示所有人",
    streaming: "逐段发送回答",
    sendProgress: "发送进度",
    sendToolHints: "发送工具提示",
    showReasoning: "发送推理过程",
    sendMaxRetries: "消息投递的尝试次数",
    catchUpS: "消息超过多少秒后不再回答",
    pairing: "向陌生人发放配对码，凭此允许其发消息",
  },
};

/** In a language such as `de` or `de-AT`; empty where there are none. */
export function commonLabels(tag: string): Readonly<Record<string, string>> {
  const language = tag.split("-")[0]!.toLowerCase();
  return Object.hasOwn(LABELS, language) ? LABELS[language]! : {};
}

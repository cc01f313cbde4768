/** Keys of the configuration in German, by their paths: title and description; `*` is a name that people give. */

import type { SettingWords } from "../setting_form.ts";

const words: SettingWords = {
  "$schema": { title: "Schema", description: "Wo das Schema dieser Datei steht." },
  "agent.model": {
    title: "Modell",
    description:
      "<Anbieter>/<Modell>. Leer: der erste Anbieter mit einem Schlüssel, sonst das eingebaute Modell ohne Netz.",
  },
  "agent.fallbacks": {
    title: "Ersatzmodelle",
    description:
      "Modelle, die der Reihe nach versucht werden, wenn das Modell nicht erreichbar oder überlastet ist oder stallTimeoutS lang nichts sendet.",
  },
  "agent.preset": {
    title: "Geltende Voreinstellung",
    description: "Name der geltenden Voreinstellung; ihre Werte gehen Modell und Temperatur vor.",
  },
  "agent.presets": {
    title: "Voreinstellungen",
    description: "Benannte Zusammenstellungen aus einem Modell und dessen Einstellungen.",
  },
  "agent.presets.*.model": { title: "Modell", description: "<Anbieter>/<Modell>." },
  "agent.presets.*.temperature": { title: "Temperatur", description: "0 bis 2." },
  "agent.presets.*.maxOutputTokens": {
    title: "Längste Antwort",
    description: "Token einer Antwort.",
  },
  "agent.temperature": {
    title: "Temperatur",
    description: "0 bis 2; ohne Wert: wie der Anbieter es hält.",
  },
  "agent.maxOutputTokens": {
    title: "Längste Antwort",
    description: "Token einer Antwort; ohne Wert: wie der Anbieter es hält.",
  },
  "agent.workspace": {
    title: "Arbeitsordner",
    description: "Ordner, in dem der Agent arbeitet. Leer: workspace im Ordner des Dienstes.",
  },
  "agent.instructions": {
    title: "Anweisungen",
    description: "Anweisungen für diesen Dienst; sie stehen im Systemprompt vor AGENTS.md.",
  },
  "agent.contextTokens": {
    title: "Größe des Kontexts",
    description:
      "Token des Kontexts; ältere Nachrichten werden zusammengefasst, bevor er voll ist.",
  },
  "agent.maxSteps": {
    title: "Höchste Schrittzahl",
    description: "Aufrufe des Modells für eine Antwort.",
  },
  "agent.turnTimeoutS": {
    title: "Zeitgrenze einer Antwort",
    description: "Sekunden, die eine Antwort dauern darf.",
  },
  "agent.drainTimeoutS": {
    title: "Frist beim Anhalten",
    description:
      "Sekunden, die laufende Antworten beim Anhalten noch bekommen; danach warten die von Chats, Automationen und im Hintergrund auf den nächsten Start, andere enden als unterbrochen.",
  },
  "agent.stallTimeoutS": {
    title: "Frist ohne Lebenszeichen",
    description: "Sekunden ohne Lebenszeichen, nach denen eine Antwort als hängend gilt.",
  },
  "providers": { title: "Anbieter", description: "Anbieter von Modellen, nach Namen." },
  "providers.*.type": {
    title: "Protokoll",
    description: "Protokoll des Anbieters; ohne Wert: nach seinem Namen, sonst openai-compatible.",
  },
  "providers.*.baseUrl": {
    title: "Adresse",
    description: "Adresse, etwa http://127.0.0.1:11434/v1.",
  },
  "providers.*.apiKey": {
    title: "API-Schlüssel",
    description: "Schlüssel, ${ENV_VAR} oder ${secret:NAME}.",
  },
  "providers.*.model": {
    title: "Übliches Modell",
    description: "Modell, wenn agent.model keinen Wert hat.",
  },
  "providers.*.headers": { title: "Kopfzeilen", description: "Weitere Kopfzeilen von Anfragen." },
  "prices": {
    title: "Preise",
    description:
      "Preise von Modellen nach ihren Namen, etwa openai/gpt-5. Wo sie gesetzt sind, werden Kosten gezeigt.",
  },
  "prices.*.input": {
    title: "Eingabe",
    description: "Für eine Million Token der Eingabe, in beliebiger Währung.",
  },
  "prices.*.output": { title: "Ausgabe", description: "Für eine Million Token der Ausgabe." },
  "prices.*.cachedInput": {
    title: "Eingabe aus dem Zwischenspeicher",
    description:
      "Für eine Million Token der Eingabe aus dem Zwischenspeicher des Anbieters; ohne Wert: wie Eingabe.",
  },
  "api.enabled": { title: "HTTP-API", description: "Ob das Gateway die API anbietet." },
  "api.host": { title: "Adresse", description: "Adresse, an der gelauscht wird." },
  "api.port": { title: "Port", description: "Port; 0: ein freier." },
  "api.apiKey": {
    title: "API-Schlüssel",
    description: "Geheimnis für Bearer; nötig, sobald andere Rechner die API erreichen.",
  },
  "api.timeoutS": {
    title: "Zeitgrenze einer Anfrage",
    description: "Sekunden, die die Antwort auf eine Anfrage dauern darf.",
  },
  "api.authFailuresPerMinute": {
    title: "Falsche Schlüssel je Minute",
    description: "Falsche Schlüssel einer Adresse je Minute, bevor 429 kommt.",
  },
  "api.allowedHosts": {
    title: "Angenommene Hostnamen",
    description:
      "Namen in der Kopfzeile Host, die neben IP-Adressen und Namen dieses Rechners gelten.",
  },
  "api.allowedOrigins": {
    title: "Angenommene Browser-Herkünfte",
    description: "Herkünfte von Browsern, die gelten, etwa https://app.example.",
  },
  "api.attended": {
    title: "Ein Mensch ist da",
    description: "Ob bei Antworten über die API ein Mensch als anwesend gilt.",
  },
  "api.mcp": {
    title: "MCP-Server",
    description:
      "POST /mcp anbieten, damit andere Agenten diesen nutzen können; braucht api.apiKey.",
  },
  "api.openResponsesDone": {
    title: "Streams mit [DONE] beenden",
    description: "Einen Stream von responses mit [DONE] beenden.",
  },
  "channels.sendProgress": {
    title: "Zwischenstände senden",
    description: "Zwischenstände zustellen.",
  },
  "channels.sendToolHints": {
    title: "Hinweise auf Werkzeuge senden",
    description: "Hinweise auf Werkzeuge zustellen.",
  },
  "channels.showReasoning": {
    title: "Überlegungen senden",
    description: "Überlegungen zustellen.",
  },
  "channels.sendMaxRetries": {
    title: "Zustellversuche",
    description: "Versuche, eine Nachricht zuzustellen; 0 zählt als 1.",
  },
  "channels.catchUpS": {
    title: "Nachrichten bis zu diesem Alter beantworten",
    description:
      "Sekunden, nach denen eine eingehende Nachricht aufgelistet und nicht mehr beantwortet wird, 60 bis 2592000.",
  },
  "channels.pairing": {
    title: "Codes für Unbekannte",
    description:
      "Ob Unbekannte, die dem Bot allein schreiben, einen Code bekommen, mit dem du sie schreiben lässt: on; first: solange allowFrom niemanden nennt; off. Nur auf Kanälen, die ihre Absender prüfen.",
  },
  "channels.allowLocalServiceAccess": {
    title: "Lokale Dienste zulassen",
    description:
      "Ob Einstellungen von Kanälen Dienste auf diesem Rechner und in seinem Netz nennen dürfen.",
  },
  "channels.websocket": { title: "WebSocket" },
  "channels.websocket.enabled": {
    title: "WebSocket und Browser-App",
    description: "Ob das Gateway ihn anbietet.",
  },
  "channels.websocket.host": {
    title: "Adresse",
    description:
      "Adresse, an der gelauscht wird; eine jenseits dieses Rechners braucht token, tokenIssueSecret oder einen Proxy.",
  },
  "channels.websocket.port": { title: "Port", description: "Port; 0: ein freier." },
  "channels.websocket.socketPath": {
    title: "Unix-Socket",
    description: "Absoluter Pfad eines Unix-Sockets, an dem statt an host und port gelauscht wird.",
  },
  "channels.websocket.path": {
    title: "Pfad",
    description: "Pfad der Verbindung; ein Schrägstrich am Ende zählt nicht.",
  },
  "channels.websocket.publicWsUrl": {
    title: "Öffentliche Adresse",
    description:
      "Die Adresse mit ws:// oder wss://, die Clients hinter einem Reverse-Proxy genannt wird.",
  },
  "channels.websocket.maxMessageBytes": {
    title: "Größte Nachricht",
    description: "Bytes einer Nachricht von einem Client, 1 KiB bis 40 MiB.",
  },
  "channels.websocket.token": {
    title: "Gemeinsames Geheimnis",
    description: "Geheimnis, das jeder Client zeigen muss, neben ausgestellten Tokens.",
  },
  "channels.websocket.websocketRequiresToken": {
    title: "Clients brauchen ein Token",
    description: "Ob ein Client ein Token braucht; false ist für Netze, denen vertraut wird.",
  },
  "channels.websocket.tokenIssuePath": {
    title: "Pfad für Tokens",
    description: "Pfad, der kurzlebige Tokens ausgibt; leer: keiner.",
  },
  "channels.websocket.tokenIssueSecret": {
    title: "Geheimnis zum Anmelden",
    description:
      "Geheimnis dafür und für den Anfang dieser App; leer: token, wenn das gesetzt ist.",
  },
  "channels.websocket.tokenTtlS": {
    title: "Lebensdauer von Tokens",
    description: "Sekunden, die ein ausgestelltes Token gilt, 30 bis 86400.",
  },
  "channels.websocket.trustedProxyAuth": {
    title: "Anmeldung durch einen Proxy",
    description: "Ein vorgeschalteter Proxy, der sagt, wer der Mensch ist; null: keiner.",
  },
  "channels.websocket.trustedProxyAuth.trustedPeerCidrs": {
    title: "Netze des Proxys",
    description: "Netze der Proxys, etwa 10.0.0.0/8.",
  },
  "channels.websocket.trustedProxyAuth.assertionHeader": {
    title: "Kopfzeile, die den Menschen nennt",
    description: "Kopfzeile, die der Proxy hinzufügt.",
  },
  "channels.websocket.trustedProxyAuth.assertionFormat": {
    title: "Form der Kopfzeile",
    description: "jwt prüft eine Signatur; plain vertraut der Kopfzeile eines genannten Netzes.",
  },
  "channels.websocket.trustedProxyAuth.issuer": {
    title: "Aussteller",
    description: "Wert der Angabe iss, für jwt.",
  },
  "channels.websocket.trustedProxyAuth.audience": {
    title: "Empfänger",
    description: "Wert der Angabe aud, für jwt.",
  },
  "channels.websocket.trustedProxyAuth.jwksUrl": {
    title: "Adresse der Signaturschlüssel",
    description: "Wo die Signaturschlüssel stehen.",
  },
  "channels.websocket.trustedProxyAuth.jwks": {
    title: "Signaturschlüssel",
    description: "Die Signaturschlüssel, statt jwksUrl.",
  },
  "channels.websocket.trustedProxyAuth.identityClaim": {
    title: "Angabe des Menschen",
    description: "Angabe, die den Menschen nennt.",
  },
  "channels.websocket.trustedProxyAuth.allowedIdentities": {
    title: "Wer herein darf",
    description: "Werte dieser Angabe, die herein dürfen.",
  },
  "channels.websocket.trustedProxyAuth.workspaceKeyClaim": {
    title: "Angabe des Speichers",
    description: "Angabe, unter der die Chats eines Menschen gespeichert werden.",
  },
  "channels.websocket.trustedProxyAuth.signOutPath": {
    title: "Pfad zum Abmelden",
    description: "Pfad des Proxys zum Abmelden.",
  },
  "channels.websocket.trustedProxyAuth.requiredClaims": {
    title: "Verlangte Angaben",
    description: "Andere Angaben und die Werte, die sie haben müssen.",
  },
  "channels.websocket.trustedProxyAuth.allowAnyVerifiedIdentity": {
    title: "Jeden hereinlassen",
    description: "Jeden hereinlassen, den der Proxy nennt.",
  },
  "channels.websocket.allowFrom": {
    title: "Clients, die herein dürfen",
    description:
      "Kennungen von Clients, die sich verbinden dürfen; * für alle, eine leere Liste für keinen.",
  },
  "channels.websocket.allowedHosts": {
    title: "Angenommene Hostnamen",
    description:
      "Namen in der Kopfzeile Host, die neben IP-Adressen und Namen dieses Rechners gelten.",
  },
  "channels.websocket.allowedOrigins": {
    title: "Angenommene Browser-Herkünfte",
    description: "Herkünfte von Browsern, die gelten, etwa https://app.example.",
  },
  "channels.websocket.authFailuresPerMinute": {
    title: "Falsche Tokens je Minute",
    description: "Falsche Tokens einer Adresse je Minute, bevor 429 kommt.",
  },
  "channels.websocket.maxConnectionsPerAddress": {
    title: "Verbindungen einer Adresse",
    description: "Verbindungen einer Adresse zugleich.",
  },
  "channels.websocket.streaming": {
    title: "Antworten stückweise senden",
    description: "Antworten Stück für Stück senden; false: ganz.",
  },
  "channels.websocket.sendProgress": {
    title: "Zwischenstände senden",
    description: "Zwischenstände senden; ohne Wert: wie channels.sendProgress.",
  },
  "channels.websocket.sendToolHints": {
    title: "Hinweise auf Werkzeuge senden",
    description: "Hinweise auf Werkzeuge senden; ohne Wert: wie channels.sendToolHints.",
  },
  "channels.websocket.showReasoning": {
    title: "Überlegungen senden",
    description: "Überlegungen senden; ohne Wert: wie channels.showReasoning.",
  },
  "channels.websocket.pingIntervalS": {
    title: "Zeit zwischen Pings",
    description: "Sekunden zwischen Pings, 5 bis 300.",
  },
  "channels.websocket.pingTimeoutS": {
    title: "Frist für die Antwort auf einen Ping",
    description:
      "Sekunden, die ein Pong dauern darf, bevor die Verbindung getrennt wird, 5 bis 300.",
  },
  "channels.websocket.sslCertfile": {
    title: "TLS-Zertifikat",
    description:
      "PEM-Datei des Zertifikats für wss://, mit sslKeyfile. Ein relativer Pfad beginnt im Ordner der Konfiguration.",
  },
  "channels.websocket.sslKeyfile": {
    title: "Privater TLS-Schlüssel",
    description: "PEM-Datei des privaten Schlüssels dazu.",
  },
  "gates.rules": {
    title: "Regeln",
    description:
      "Regeln über Aktionen; die erste, die passt, entscheidet. Sie kommen vor den mitgelieferten Regeln und nach dem, was keine Regel ändern kann: `service policy show`.",
  },
  "gates.approvalTimeoutS": {
    title: "Frist für eine Freigabe",
    description: "Sekunden, die eine Freigabe wartet, 1 bis 300.",
  },
  "gates.approvers": {
    title: "Wer freigeben darf",
    description:
      "Absender, die Freigaben aus einem Chat beantworten dürfen: <Kanal>:<unveränderliche Kennung>, nur auf Kanälen, die ihre Absender prüfen.",
  },
  "gates.independentApprover": {
    title: "Jemand anderes gibt frei",
    description: "Ob jemand anderes freigeben muss als der, der die Antwort angestoßen hat.",
  },
  "gates.privateHosts": {
    title: "Private Hosts, die abgerufen werden dürfen",
    description:
      "Hosts (Name oder Adresse, mit :port, wenn nur der), die abgerufen werden dürfen, obwohl sie auf diesem Rechner oder in einem privaten Netz sind.",
  },
  "gates.trustedUids": {
    title: "Vertraute Benutzer dieses Rechners",
    description:
      "Benutzer dieses Rechners neben dem des Dienstes, deren Verbindungen hier ohne Schlüssel und Geheimnis gelten, wo keines gesetzt ist: uids, oder * für alle. Nur Linux unterscheidet Benutzer.",
  },
  "gates.unaskedFetchesPerTurn": {
    title: "Ungefragte Abrufe je Antwort",
    description:
      "URLs aus Ergebnissen von Werkzeugen, die für eine Antwort ungefragt abgerufen werden, 0 bis 10000. Hosts, die der Mensch genannt hat, zählen nicht.",
  },
  "gates.unaskedFetchesPerSite": {
    title: "Ungefragte Abrufe je Website",
    description:
      "Davon URLs einer Website: ein Host und seine Nachbarn unter derselben Domain. 0 bis 10000.",
  },
  "gates.messageTargets": {
    title: "Chats, denen er ungefragt schreiben darf",
    description:
      "Chats, denen der Agent ungefragt schreiben darf: <Kanal>:<Chat>, oder <Kanal>:* für jeden Chat eines Kanals, auch die von Fremden.",
  },
  "executor.allowUnconfined": {
    title: "Ohne Sandbox ausführen",
    description: "Befehle ohne Sandbox ausführen, wo es keine gibt.",
  },
  "executor.maxOutputBytes": {
    title: "Längste Ausgabe",
    description:
      "Bytes der Ausgabe eines Werkzeugs, die das Modell bekommt; Anfang und Ende bleiben.",
  },
  "executor.maxMemoryMiB": {
    title: "Speicher eines Befehls",
    description:
      "MiB Speicher, die jeder Prozess eines Befehls belegen darf; mit Control Groups alle seine Prozesse zusammen.",
  },
  "executor.maxProcesses": {
    title: "Prozesse eines Befehls",
    description: "Prozesse und Threads, die ein Befehl zugleich haben darf.",
  },
  "executor.hosts": {
    title: "Hosts von Befehlen",
    description:
      "Hosts, die Befehle ungefragt erreichen dürfen, wenn sie darum bitten: <Host>, <Host>:<Port> oder *.<Host>. Ohne Port: 80 und 443.",
  },
  "audit.recordCommands": {
    title: "Befehle lesbar aufzeichnen",
    description: "Befehle lesbar aufzeichnen statt als Prüfsummen mit Schlüssel.",
  },
  "audit.mirror": {
    title: "Spiegeldatei",
    description:
      "Datei außerhalb des Ordners des Dienstes, an die signierte Zwischenstände ebenfalls angehängt werden, am besten auf einer anderen Platte oder einem anderen Rechner. Leer: keine.",
  },
  "audit.rotateBytes": {
    title: "Größe einer Datei",
    description: "Bytes des Protokolls, nach denen die nächste Datei beginnt.",
  },
  "audit.keepFiles": {
    title: "Dateien, die bleiben",
    description: "Volle Dateien, die bleiben, die ältesten gehen zuerst; 0: alle.",
  },
  "tools.webSearch": { title: "Websuche" },
  "tools.webSearch.provider": {
    title: "Suchanbieter",
    description: "Wer für web_search im Web sucht; none: niemand.",
  },
  "tools.webSearch.apiKey": {
    title: "API-Schlüssel",
    description: "Schlüssel des Anbieters, ${ENV_VAR} oder ${secret:NAME}.",
  },
  "tools.webSearch.baseUrl": {
    title: "Adresse",
    description: "Wo der Anbieter ist; nötig für searxng.",
  },
  "mcp.servers": { title: "Server", description: "MCP-Server, nach Namen." },
  "mcp.servers.*.enabled": { title: "In Gebrauch", description: "Ob er genutzt wird." },
  "mcp.servers.*.command": {
    title: "Befehl",
    description:
      "Programm und Argumente eines Servers über stdio; er läuft in der Sandbox von Befehlen.",
  },
  "mcp.servers.*.cwd": { title: "Ordner", description: "Sein Ordner im Arbeitsordner." },
  "mcp.servers.*.env": {
    title: "Umgebung",
    description: "Seine Umgebung, zusätzlich zu der der Sandbox.",
  },
  "mcp.servers.*.read": {
    title: "Pfade zum Lesen",
    description: "Absolute Pfade außerhalb des Arbeitsordners, die er sieht.",
  },
  "mcp.servers.*.write": {
    title: "Pfade zum Schreiben",
    description: "Absolute Pfade außerhalb des Arbeitsordners, in die er schreiben darf.",
  },
  "mcp.servers.*.hosts": {
    title: "Hosts",
    description: "Hosts, die er erreichen darf: <Host>, <Host>:<Port> oder *.<Host>.",
  },
  "mcp.servers.*.url": { title: "Adresse", description: "Adresse eines Servers über HTTP." },
  "mcp.servers.*.headers": {
    title: "Kopfzeilen",
    description: "Weitere Kopfzeilen von Anfragen an ihn.",
  },
  "mcp.servers.*.allow": {
    title: "Werkzeuge, die ungefragt laufen",
    description:
      "Namen seiner Werkzeuge, die ungefragt laufen, wenn ein Mensch da ist; * für alle.",
  },
  "mcp.servers.*.timeoutS": {
    title: "Zeitgrenze eines Aufrufs",
    description: "Sekunden, die ein Aufruf dauern darf.",
  },
  "transcription.enabled": {
    title: "Sprache in Text wandeln",
    description: "Gesprochenes in Text wandeln, für Kanäle und den WebSocket-Port.",
  },
  "transcription.baseUrl": {
    title: "Adresse",
    description: "Wo POST /audio/transcriptions ist, bei OpenAI oder einem Server, der so spricht.",
  },
  "transcription.apiKey": {
    title: "API-Schlüssel",
    description:
      "Schlüssel, ${ENV_VAR} oder ${secret:NAME}; leer für einen Server, der keinen braucht.",
  },
  "transcription.model": { title: "Modell", description: "Modell, das der Server kennt." },
  "transcription.language": {
    title: "Sprache",
    description: "Gesprochene Sprache, etwa de; leer: der Server findet sie heraus.",
  },
  "transcription.timeoutS": {
    title: "Zeitgrenze",
    description: "Sekunden, die eine Umwandlung dauern darf.",
  },
  "transcription.maxBytes": {
    title: "Größte Aufnahme",
    description: "Bytes einer Aufnahme, bis 100 MiB.",
  },
  "automations.enabled": {
    title: "Automationen ausführen",
    description:
      "Ausführen, was fällig ist; false: Automationen behalten, aber weder ausführen noch ändern.",
  },
  "automations.maxRunning": {
    title: "Läufe zugleich",
    description: "Läufe zugleich, jeder von einer anderen Automation; weitere warten.",
  },
  "storage.minFreeMiB": {
    title: "Freier Plattenplatz",
    description: "MiB freier Plattenplatz, unter denen neue Arbeit abgelehnt wird; 0: nie.",
  },
  "retention.dailyAt": {
    title: "Uhrzeit",
    description:
      "Uhrzeit, zu der ein laufender Dienst entfernt, was über den Grenzen ist, etwa 03:30; leer: nur `service prune` tut es.",
  },
  "retention.sessions": { title: "Gespräche" },
  "retention.sessions.maxAgeDays": {
    title: "Höchstalter",
    description:
      "Tage, nach denen eine unbenutzte Unterhaltung entfernt wird; 0: nie. Mindestens 8: So lange werden wiederholte Nachrichten erkannt.",
  },
  "retention.sessions.maxMiB": {
    title: "Höchstgröße",
    description:
      "MiB, die alle zusammen belegen dürfen, bevor die ältesten gehen; 0: beliebig viele.",
  },
  "retention.media": { title: "Dateien von Nachrichten" },
  "retention.media.maxAgeDays": {
    title: "Höchstalter",
    description:
      "Tage, nach denen eine Datei entfernt wird, die mit Nachrichten kam und seither mit keiner; 0: nie.",
  },
  "retention.media.maxMiB": {
    title: "Höchstgröße",
    description:
      "MiB, die alle zusammen belegen dürfen, bevor die ältesten gehen; 0: beliebig viele.",
  },
  "retention.audit": { title: "Audit-Log" },
  "retention.audit.maxAgeDays": {
    title: "Höchstalter",
    description: "Tage, nach denen ein Eintrag mit seiner ganzen Datei entfernt wird; 0: nie.",
  },
  "retention.audit.maxMiB": {
    title: "Höchstgröße",
    description:
      "MiB, die alle zusammen belegen dürfen, bevor die ältesten gehen; 0: beliebig viele.",
  },
  "retention.logs": { title: "Log-Dateien" },
  "retention.logs.maxAgeDays": {
    title: "Höchstalter",
    description: "Tage, nach denen eine beiseitegelegte Log-Datei entfernt wird; 0: nie.",
  },
  "retention.logs.maxMiB": {
    title: "Höchstgröße",
    description:
      "MiB, die alle zusammen belegen dürfen, bevor die ältesten gehen; 0: beliebig viele.",
  },
  "retention.backups": { title: "Sicherungen" },
  "retention.backups.folder": {
    title: "Ordner der Sicherungen",
    description:
      "Ordner mit Sicherungen, die `service backup` nach ihrer Zeit benannt hat. Leer: Keine wird entfernt. Ein relativer Pfad beginnt im Ordner der Konfiguration.",
  },
  "retention.backups.maxAgeDays": {
    title: "Höchstalter",
    description:
      "Tage, nach denen eine Sicherung oder eine Kopie von vor einer Umstellung entfernt wird; 0: nie.",
  },
  "retention.backups.maxMiB": {
    title: "Höchstgröße",
    description:
      "MiB, die alle zusammen belegen dürfen, bevor die ältesten gehen; 0: beliebig viele.",
  },
  "log.level": {
    title: "Stufe",
    description: "Niedrigste Stufe, die geschrieben wird; die Zeile jeder Anfrage immer.",
  },
  "log.format": { title: "Format", description: "Lesbare Zeilen oder JSON-Zeilen." },
  "log.file": {
    title: "Datei",
    description:
      "Datei für das Log eines Dienstes, der bleibt. Leer: Standardfehlerausgabe, oder logs/service.log für einen im Hintergrund. Ein relativer Pfad beginnt im Ordner der Konfiguration.",
  },
  "log.rotateMiB": {
    title: "Größe einer Datei",
    description: "MiB, nach denen eine Log-Datei als <Datei>.1 beiseitegelegt wird.",
  },
  "log.rotateDays": {
    title: "Alter einer Datei",
    description:
      "Tage nach ihrer ersten Zeile, nach denen eine Log-Datei beiseitegelegt wird; 0: gleich welchen Alters.",
  },
  "log.keepFiles": {
    title: "Dateien, die bleiben",
    description: "Beiseitegelegte Log-Dateien, die bleiben; die ältesten gehen zuerst.",
  },
  "log.compress": {
    title: "Alte Dateien komprimieren",
    description: "Beiseitegelegte Log-Dateien komprimieren (gzip).",
  },
};

export default words;

/** Names of the protocol's parts, each with the document that it comes from. */
export const NS = {
  stanzaErrors: "urn:ietf:params:xml:ns:xmpp-stanzas", // RFC 6120, 8.3
  streamErrors: "urn:ietf:params:xml:ns:xmpp-streams", // RFC 6120, 4.9
  streams: "http://etherx.jabber.org/streams", // RFC 6120, 4.8
  tls: "urn:ietf:params:xml:ns:xmpp-tls", // RFC 6120, 5
  sasl: "urn:ietf:params:xml:ns:xmpp-sasl", // RFC 6120, 6
  bind: "urn:ietf:params:xml:ns:xmpp-bind", // RFC 6120, 7
  acks: "urn:xmpp:sm:3", // XEP-0198
  ping: "urn:xmpp:ping", // XEP-0199
  discoInfo: "http://jabber.org/protocol/disco#info", // XEP-0030
  discoItems: "http://jabber.org/protocol/disco#items", // XEP-0030
  form: "jabber:x:data", // XEP-0004
  muc: "http://jabber.org/protocol/muc", // XEP-0045
  mucUser: "http://jabber.org/protocol/muc#user", // XEP-0045
  invite: "jabber:x:conference", // XEP-0249
  rsm: "http://jabber.org/protocol/rsm", // XEP-0059
  oob: "jabber:x:oob", // XEP-0066
  chatStates: "http://jabber.org/protocol/chatstates", // XEP-0085
  caps: "http://jabber.org/protocol/caps", // XEP-0115
  receipts: "urn:xmpp:receipts", // XEP-0184
  delay: "urn:xmpp:delay", // XEP-0203
  carbons: "urn:xmpp:carbons:2", // XEP-0280
  forward: "urn:xmpp:forward:0", // XEP-0297
  replace: "urn:xmpp:message-correct:0", // XEP-0308
  archive: "urn:xmpp:mam:2", // XEP-0313
  markers: "urn:xmpp:chat-markers:0", // XEP-0333
  hints: "urn:xmpp:hints", // XEP-0334
  stanzaIds: "urn:xmpp:sid:0", // XEP-0359
  upload: "urn:xmpp:http:upload:0", // XEP-0363
  reference: "urn:xmpp:reference:0", // XEP-0372
  encryption: "urn:xmpp:eme:0", // XEP-0380
  occupantId: "urn:xmpp:occupant-id:0", // XEP-0421
  retract: "urn:xmpp:message-retract:1", // XEP-0424
  fallback: "urn:xmpp:fallback:0", // XEP-0428
  reply: "urn:xmpp:reply:0", // XEP-0461
} as const;

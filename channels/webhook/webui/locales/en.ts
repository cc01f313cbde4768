const en = {
  lead: "Requests are signed with a secret that both sides have.",
  replace: "A secret is set. Another one takes its place at once, and the other side needs it too.",
  make: "Make a secret",
  makeAnother: "Make another secret",
  once: "It is saved. Give it to the program that sends: it isn't shown again.",
  copy: "Copy",
};

export default en;

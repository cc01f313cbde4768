/** The head of a page: its title, what it is for, and what can be done on the whole of it. */
export function PageHead(
  { title, lead, children }: { title: string; lead?: string; children?: preact.ComponentChildren },
) {
  return (
    <header class="page-head">
      <div>
        <h1>{title}</h1>
        {lead !== undefined && <p class="muted">{lead}</p>}
      </div>
      {children !== undefined && <div class="buttons">{children}</div>}
    </header>
  );
}

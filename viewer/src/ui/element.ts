// Elements of the page by their names.

export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found as T;
}

/** Lets a dialog be closed by its button and by a click beside it. */
export function closes(dialog: HTMLDialogElement, button: HTMLElement): void {
  button.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
}

// Server-sent events, read from a stream of text: lines in, events out. No network here.

export interface ServerEvent {
  event: string;
  data: string;
  /** Where to go on from; null if this event does not move it. */
  id: string | null;
}

/** Takes text as it comes, in any pieces; `onEvent` hears whole events. A comment with an id moves it. */
export function readEvents(onEvent: (event: ServerEvent) => void): (text: string) => void {
  let rest = "";
  let event = "message";
  let data: string[] = [];
  let id: string | null = null;

  function line(text: string): void {
    if (text === "") {
      if (data.length > 0 || id !== null) onEvent({ event, data: data.join("\n"), id });
      event = "message";
      data = [];
      id = null;
      return;
    }
    const colon = text.indexOf(":");
    if (colon === 0) return; // a comment: the connection lives
    const name = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(colon + 1).replace(/^ /, "");
    if (name === "event") event = value;
    else if (name === "data") data.push(value);
    else if (name === "id") id = value;
  }

  return (text) => {
    const lines = (rest + text).split(/\r\n|\n|\r/);
    rest = lines.pop() ?? "";
    lines.forEach(line);
  };
}

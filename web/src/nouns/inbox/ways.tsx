// By which ways one is told of what: a box to tick for each kind and way.
import { Panel } from "@/parts/panel";
import { Failed, Loaded } from "@/parts/states";
import { spell } from "@/words/amounts";
import { leadsTo, switched, WAYS, type Settings } from "./choices";
import { useChoosing, useSettings } from "./queries";

export function Ways() {
  const settings = useSettings();
  return (
    <Panel title="How you are told" aside="mail and webhook are off until you choose them">
      <Loaded query={settings}>{(found) => <Choices settings={found} />}</Loaded>
    </Panel>
  );
}

function Choices({ settings }: { settings: Settings }) {
  const choosing = useChoosing();
  return (
    <>
      {choosing.isError && <Failed error={choosing.error} />}
      <div className="overflow-x-auto" tabIndex={0} role="region" aria-label="Kinds and ways">
        <table className="w-full text-left">
          <thead className="text-xs text-muted">
            <tr>
              <th scope="col" className="py-1 pr-4 font-medium">
                told of
              </th>
              {WAYS.map((way) => (
                <th key={way} scope="col" className="py-1 pr-4 font-medium">
                  {way}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {settings.choices.map(({ kind, channels }) => (
              <tr key={kind} className="border-t border-line">
                <th scope="row" className="py-1.5 pr-4 font-normal">
                  {spell(kind)}
                </th>
                {WAYS.map((way) => (
                  <td key={way} className="py-1.5 pr-4">
                    <input
                      type="checkbox"
                      className="size-4"
                      aria-label={`${spell(kind)} by ${way}`}
                      checked={channels.includes(way)}
                      disabled={choosing.isPending || !leadsTo(settings, way)}
                      onChange={() =>
                        choosing.mutate([{ kind, channels: switched(channels, way) }])
                      }
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="mt-3 text-sm text-muted">{addressOf(settings)}</p>
    </>
  );
}

function addressOf(settings: Settings): string {
  const { email, pending_email, webhook_url, sends_mail, withheld } = settings;
  const told = [];
  if (email !== null) told.push(`Mail goes to ${email}.`);
  if (pending_email !== null) {
    told.push(`${pending_email} waits for the code that was mailed there.`);
  }
  if (!sends_mail) told.push("This server sends no mail.");
  else if (email === null && pending_email === null) {
    told.push("Set an address with bailiwick notify set --email ADDRESS.");
  }
  if (webhook_url !== null) told.push(`A webhook leads to ${webhook_url}.`);
  if (withheld > 0) told.push(`Too many to be sent, and in your inbox alone: ${withheld}.`);
  return told.join(" ");
}

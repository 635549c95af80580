// A real OpenID Connect provider on this machine's loopback address, for tests.
// It is told on its command line, as JSON: port, redirect_uris, and people with their groups.
// Whatever a person types as his name is believed; POST /people tells who is in which group now.
import { createServer } from "node:http";
import { createRequire } from "node:module";

const { default: Provider } = await import(createRequire(process.env.OIDC_MODULES + "/").resolve("oidc-provider"));

const told = JSON.parse(process.argv[2]);
const issuer = `http://127.0.0.1:${told.port}`;
let people = told.people;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "bailiwick",
      client_secret: "a secret: with signs+/",
      redirect_uris: told.redirect_uris,
      grant_types: ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"],
      response_types: ["code"],
    },
    {
      client_id: "public",
      token_endpoint_auth_method: "none",
      redirect_uris: told.redirect_uris,
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  ],
  claims: { openid: ["sub"], profile: ["preferred_username"], groups: ["groups"] },
  scopes: ["openid", "profile", "groups"],
  features: { deviceFlow: { enabled: true } },
  pkce: { required: () => true },
  cookies: { keys: ["only for tests"] },
  async findAccount(_context, id) {
    return {
      accountId: id,
      async claims() {
        return { sub: id, preferred_username: `${id}@campus`, groups: people[id] ?? [] };
      },
    };
  },
});

const answer = provider.callback();
createServer((request, response) => {
  if (request.method === "POST" && request.url === "/people") {
    let text = "";
    request.on("data", (piece) => (text += piece));
    request.on("end", () => {
      people = JSON.parse(text);
      response.end("ok");
    });
    return;
  }
  answer(request, response);
}).listen(told.port, "127.0.0.1", () => console.log("listening"));

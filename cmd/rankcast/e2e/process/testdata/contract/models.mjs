// Makes types of the messages, in Go and in TypeScript: node models.mjs asyncapi.yaml GO-FOLDER TS-FOLDER
import { GO_COMMON_PRESET, GoFileGenerator, TypeScriptFileGenerator } from '@asyncapi/modelina';
import { fromFile, Parser } from '@asyncapi/parser';

const [, , contract, goFolder, tsFolder] = process.argv;
const { document, diagnostics } = await fromFile(new Parser(), contract).parse();
const faults = diagnostics.filter(({ severity }) => severity < 2); // errors and warnings; modelina does not know 3.1 yet
if (faults.length > 0 || !document) {
  console.error(faults);
  process.exit(1);
}
await new GoFileGenerator({ presets: [{ preset: GO_COMMON_PRESET, options: { addJsonTag: true } }] })
  .generateToFiles(document, goFolder, { packageName: 'messages' });
await new TypeScriptFileGenerator({ modelType: 'interface', rawPropertyNames: true, mapType: 'record' })
  .generateToFiles(document, tsFolder, { exportType: 'named' });

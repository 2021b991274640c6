// Answers for each status or spec on standard input what an API server with the CRDs in the files of the arguments has
// against it.
//
// A line has {"apiVersion", "kind"} and "status" or "spec", its answer {"refused", "unknown", "stored"}: errors, none for
// what is stored, paths of fields that the schema does not have, and the part with its defaults; null for a kind without a
// CRD. As for an update of the status subresource (statusStrategy in pkg/registry/customresource), nulls are pruned and
// defaults are set, unknown fields are dropped, then schema, lists and CEL rules are checked. An API server tolerates what
// an object had before; here every part is judged as a new one.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

type part struct {
	structure *schema.Structural
	validator validation.SchemaValidator
	rules     *cel.Validator
}

type answer struct {
	Refused []string `json:"refused"`
	Unknown []string `json:"unknown"`
	Stored  any      `json:"stored"`
}

func main() {
	parts := map[string]part{}
	for _, file := range os.Args[1:] {
		if err := add(parts, file); err != nil {
			log.Fatalf("%s: %v", file, err)
		}
	}
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<26)
	for input.Scan() {
		var asked struct {
			APIVersion, Kind string
			Status, Spec     json.RawMessage
		}
		var value any
		if err := json.Unmarshal(input.Bytes(), &asked); err != nil {
			log.Fatal(err)
		}
		name, text := "status", asked.Status
		if text == nil {
			name, text = "spec", asked.Spec
		}
		if err := utiljson.Unmarshal(text, &value); err != nil {
			log.Fatal(err)
		}
		var answer *answer
		if known, found := parts[asked.APIVersion+" "+asked.Kind+" "+name]; found {
			answer = known.judge(name, value)
		}
		if err := json.NewEncoder(output).Encode(answer); err != nil {
			log.Fatal(err)
		}
	}
	if err := input.Err(); err != nil {
		log.Fatal(err)
	}
}

func add(parts map[string]part, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return err
	}
	for _, version := range crd.Spec.Versions {
		if version.Schema == nil {
			continue
		}
		var props apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &props, nil); err != nil {
			return err
		}
		for _, field := range []string{"status", "spec"} {
			described, found := props.Properties[field]
			hasStatus := version.Subresources != nil && version.Subresources.Status != nil
			if !found || field == "status" && !hasStatus {
				continue
			}
			structure, err := schema.NewStructural(&described)
			if err != nil {
				return fmt.Errorf("%s: %w", version.Name, err)
			}
			validator, _, err := validation.NewSchemaValidator(&described)
			if err != nil {
				return fmt.Errorf("%s: %w", version.Name, err)
			}
			name := fmt.Sprintf("%s/%s %s %s", crd.Spec.Group, version.Name, crd.Spec.Names.Kind, field)
			parts[name] = part{structure, validator, cel.NewValidator(structure, false, celconfig.PerCallLimit)}
		}
	}
	return nil
}

func (p part) judge(name string, value any) *answer {
	defaulting.PruneNonNullableNullsWithoutDefaults(value, p.structure)
	defaulting.Default(value, p.structure)
	unknown := pruning.PruneWithOptions(value, p.structure, false, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	path := field.NewPath(name)
	errors := validation.ValidateCustomResource(path, value, p.validator)
	if object, isObject := value.(map[string]any); isObject {
		errors = append(errors, listtype.ValidateListSetsAndMaps(path, p.structure, object)...)
	}
	if len(errors) == 0 && p.rules != nil {
		errors, _ = p.rules.Validate(context.Background(), path, p.structure, value, nil, celconfig.RuntimeCELCostBudget)
	}
	found := answer{Refused: []string{}, Unknown: unknown, Stored: value}
	for _, each := range errors {
		found.Refused = append(found.Refused, each.Error())
	}
	return &found
}
